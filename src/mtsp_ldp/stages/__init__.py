"""One entry point a rule of the workflow, and of the rule's name; Hydra composes its config."""
