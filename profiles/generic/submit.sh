#!/bin/sh
# Submit one job and print its id in the scheduler, and nothing else.
# Arguments: memory in MB, minutes, cores, rule, and the script that Snakemake wrote. This line is for Slurm; on
# Grid Engine it would be: qsub -terse -cwd -V -l h_vmem="$1M",h_rt="$2:00" -pe smp "$3" -N "$4" "$5"
exec sbatch --parsable --mem "$1" --time "$2" --cpus-per-task "$3" --job-name "$4" --output /dev/null "$5"
