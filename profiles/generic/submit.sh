#!/bin/sh
# Submit one job and print the scheduler's id of it, and nothing else.
# Arguments: memory in MB, minutes, cores, rule, and the script that Snakemake wrote. This is Slurm's way; on
# Grid Engine it would be: qsub -terse -cwd -V -l h_vmem="$1M",h_rt="$2:00" -pe smp "$3" -N "$4" "$5"
exec sbatch --parsable --mem "$1" --time "$2" --cpus-per-task "$3" --job-name "$4" --output /dev/null "$5"
