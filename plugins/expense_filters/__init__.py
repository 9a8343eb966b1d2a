"""More filters of the list of expenses: words, tags, amounts, currency, and what is paid."""
