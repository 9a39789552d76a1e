"""What every job is made with: the contract, runs through the memo, missing rows, work, progress, memory."""
