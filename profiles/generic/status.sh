#!/bin/sh
# Print the state of the job with this id: running, success or failed. A job that the scheduler killed counts as failed.
state=$(scontrol --oneliner show job "$1" | sed 's/.* JobState=\([A-Z_]*\).*/\1/')
case "$state" in
  COMPLETED) echo success ;;
  PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | REQUEUED) echo running ;;
  *) echo failed ;;
esac
