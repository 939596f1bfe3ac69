#!/bin/sh
# Say how the job of this id is: running, success or failed. A job that the scheduler killed must not look running.
state=$(scontrol --oneliner show job "$1" | sed 's/.* JobState=\([A-Z_]*\).*/\1/')
case "$state" in
  COMPLETED) echo success ;;
  PENDING | CONFIGURING | RUNNING | COMPLETING | SUSPENDED | REQUEUED) echo running ;;
  *) echo failed ;;
esac
