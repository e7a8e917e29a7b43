"""Small models with seeded weights that do what the big ones do. They are made when a test wants them, so the tree holds none of their weights."""

from . import control_flow, convolutional, exported, optimized, quantized, recurrent, tabular, transformers

#: The functions that make the models, by the models' names.
MODELS = {model.__name__: model for family in (convolutional, transformers, recurrent, quantized, control_flow, exported, optimized, tabular) for model in family.MODELS}
