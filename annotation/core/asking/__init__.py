"""Ask released questions: templates, examples, and prompts that fit a budget.

What a question is says `core.releases.exports.asked`. `settings` are the choices of a set of prompts,
`templates` its words, `history` writes down what was done so far, `drawing` chooses the examples, and
`prompts` puts all of it together.
"""
