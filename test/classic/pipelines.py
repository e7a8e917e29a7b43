"""Pipelines of scikit-learn, LightGBM, XGBoost and CatBoost, as their users train and export them.

PIPELINES has for each name the packages that it needs and a function that returns an ONNX model, a function of the number of rows that returns inputs, and one of the inputs
that returns what the trained model says: arrays for the first outputs of the ONNX model.
"""

import importlib
import pathlib
import tempfile

import numpy as np

COLUMNS, TRAINED = 6, 240
WORDS = ["spam", "ham", "free", "meeting", "money", "lunch", "offer", "Now", "tomorrow", "it's", "e-mail", "prize", "report", "x"]
COLOURS, SIZES = ["red", "green", "blue"], ["S", "M", "L", "XL"]
PIPELINES = {}


def draw(rows, seed=1):
    return np.random.default_rng(seed).standard_normal((rows, COLUMNS)).astype(np.float32)


def score(x):
    return x[:, 0] * x[:, 1] + x[:, 2] - 0.5 * x[:, 3] ** 2 + np.sin(x[:, 4])


def labels(x, classes):
    return np.digitize(score(x), np.linspace(-1, 1, classes + 1)[1:-1] if classes > 2 else [0.0])


def make(path, *args, **kwargs):
    """An estimator by its place in scikit-learn: "svm.SVC"."""
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(f"sklearn.{module}"), name)(*args, **kwargs)


def convert(model, types=None, **options):
    import skl2onnx
    from skl2onnx.common.data_types import FloatTensorType
    given = {id(model): options} if options else None
    return skl2onnx.convert_sklearn(model, initial_types=types or [("x", FloatTensorType([None, COLUMNS]))], options=given, target_opset={"": 18, "ai.onnx.ml": 3})


def add(name, build, *packages):
    PIPELINES[name] = (["sklearn", "skl2onnx", *packages], build)


def answers(model, x):
    """What a trained model says: labels or numbers and probabilities, or transformed rows."""
    said = [model.predict(x), *([model.predict_proba(x)] if hasattr(model, "predict_proba") else [])] if hasattr(model, "predict") else [model.transform(x)]
    return [np.asarray(part.todense() if hasattr(part, "todense") else part) for part in said]


def numbers(change=lambda x: x):
    return lambda rows: {"x": change(draw(rows, rows + 7)).astype(np.float32)}


def add_estimator(name, path, *args, target=None, change=lambda x: x, options=None, fit=None, **kwargs):
    """An estimator of numbers: `target` is what it learns from the inputs, none for what learns from inputs alone."""
    def build():
        x = change(draw(TRAINED))
        model = make(path, *[make(*part) if isinstance(part, tuple) else part for part in args], **{key: value() if callable(value) else value for key, value in kwargs.items()})
        model.fit(x, *([] if target is None else [target(draw(TRAINED))]))
        return convert(model, **(options or {})), numbers(change), lambda inputs: answers(model, inputs["x"])
    add(name, build)


def two(x):
    return labels(x, 2)


def three(x):
    return labels(x, 3)


def named(x):
    return np.array(["low", "middle", "high"])[labels(x, 3)]


def both(x):
    return np.stack([score(x), x[:, 0]], 1)


def positive(x):
    return np.exp(score(x) / 2)


def with_gaps(x):
    x = x.copy()
    x[::3, 1] = np.nan
    x[1::5, 4] = np.nan
    return x


def counts(x):
    return np.floor(np.abs(x) * 3)


TENSOR = {"zipmap": False}


def add_classifiers():
    for name, path, kwargs in (
            ("logistic", "linear_model.LogisticRegression", {}), ("sgd", "linear_model.SGDClassifier", {"loss": "log_loss", "random_state": 0}),
            ("svc", "svm.SVC", {"probability": True, "random_state": 0}), ("tree", "tree.DecisionTreeClassifier", {"max_depth": 5}),
            ("forest", "ensemble.RandomForestClassifier", {"n_estimators": 20, "random_state": 0}), ("boosting", "ensemble.GradientBoostingClassifier", {"n_estimators": 20}),
            ("neighbours", "neighbors.KNeighborsClassifier", {}), ("bayes", "naive_bayes.GaussianNB", {}),
            ("perceptrons", "neural_network.MLPClassifier", {"hidden_layer_sizes": (16, 8), "random_state": 0, "max_iter": 60}),
            ("adaboost", "ensemble.AdaBoostClassifier", {"n_estimators": 10, "random_state": 0})):
        for number, target in (("two", two), ("three", three)):
            add_estimator(f"{name} of {number}", path, target=target, options=TENSOR, **kwargs)
    add_estimator("logistic with names and maps", "linear_model.LogisticRegression", target=named)
    add_estimator("nu svc", "svm.NuSVC", target=three, kernel="poly", nu=0.2, probability=True, random_state=0, options=TENSOR)
    add_estimator("svc without probabilities", "svm.SVC", target=three, kernel="sigmoid")
    add_estimator("linear svc", "svm.LinearSVC", target=three)
    add_estimator("ridge classifier", "linear_model.RidgeClassifier", target=two)
    add_estimator("perceptron", "linear_model.Perceptron", target=three)
    add_estimator("extra trees", "ensemble.ExtraTreesClassifier", target=named, n_estimators=10, random_state=0, options=TENSOR)
    add_estimator("histogram boosting with gaps", "ensemble.HistGradientBoostingClassifier", target=three, max_iter=10, change=with_gaps, options=TENSOR)
    add_estimator("bagging", "ensemble.BaggingClassifier", target=three, n_estimators=5, random_state=0, options=TENSOR)
    add_estimator("bernoulli", "naive_bayes.BernoulliNB", target=three, options=TENSOR)
    add_estimator("multinomial", "naive_bayes.MultinomialNB", target=three, change=counts, options=TENSOR)
    add_estimator("complement", "naive_bayes.ComplementNB", target=three, change=counts, options=TENSOR)
    add_estimator("linear discriminant", "discriminant_analysis.LinearDiscriminantAnalysis", target=three, options=TENSOR)
    add_estimator("quadratic discriminant", "discriminant_analysis.QuadraticDiscriminantAnalysis", target=three, options=TENSOR)
    logistic, tree = ("linear_model.LogisticRegression",), ("tree.DecisionTreeClassifier",)
    members = lambda: [("a", make(*logistic)), ("b", make(*tree, max_depth=4))]
    add_estimator("voting", "ensemble.VotingClassifier", target=three, estimators=members, voting="soft", flatten_transform=False, options=TENSOR)
    add_estimator("stacking", "ensemble.StackingClassifier", target=three, estimators=members, options=TENSOR)
    add_estimator("calibrated", "calibration.CalibratedClassifierCV", tree, target=two, cv=2, options=TENSOR)
    add_estimator("one against the rest", "multiclass.OneVsRestClassifier", logistic, target=three, options=TENSOR)
    add_estimator("gaussian process classifier", "gaussian_process.GaussianProcessClassifier", target=two, options=TENSOR)


def add_regressors():
    for name, path, kwargs in (
            ("linear", "linear_model.LinearRegression", {}), ("ridge", "linear_model.Ridge", {}), ("lasso", "linear_model.Lasso", {"alpha": 0.01}),
            ("huber", "linear_model.HuberRegressor", {}), ("svr", "svm.SVR", {}), ("nu svr", "svm.NuSVR", {"kernel": "poly"}), ("linear svr", "svm.LinearSVR", {}),
            ("tree regressor", "tree.DecisionTreeRegressor", {}), ("forest regressor", "ensemble.RandomForestRegressor", {"n_estimators": 20, "random_state": 0}),
            ("boosting regressor", "ensemble.GradientBoostingRegressor", {"n_estimators": 30}), ("neighbours regressor", "neighbors.KNeighborsRegressor", {}),
            ("perceptrons regressor", "neural_network.MLPRegressor", {"hidden_layer_sizes": (16,), "random_state": 0, "max_iter": 80}),
            ("gaussian process", "gaussian_process.GaussianProcessRegressor", {"alpha": 10.0})):
        add_estimator(name, path, target=score, **kwargs)
    add_estimator("histogram boosting regressor", "ensemble.HistGradientBoostingRegressor", target=score, max_iter=10, change=with_gaps)
    add_estimator("forest of two targets", "ensemble.RandomForestRegressor", target=both, n_estimators=10, random_state=0)
    add_estimator("partial least squares", "cross_decomposition.PLSRegression", target=both)
    add_estimator("poisson", "linear_model.PoissonRegressor", target=positive)
    add_estimator("gamma", "linear_model.GammaRegressor", target=positive)


def add_transformers():
    for name, path, kwargs in (
            ("standard scaler", "preprocessing.StandardScaler", {}), ("ranges", "preprocessing.MinMaxScaler", {"clip": True}), ("robust", "preprocessing.RobustScaler", {}),
            ("normalizer", "preprocessing.Normalizer", {}), ("polynomials", "preprocessing.PolynomialFeatures", {"degree": 3}), ("components", "decomposition.PCA", {"n_components": 3}),
            ("powers", "preprocessing.PowerTransformer", {}), ("bins", "preprocessing.KBinsDiscretizer", {"n_bins": 4, "encode": "onehot-dense"}),
            ("singular values", "decomposition.TruncatedSVD", {"n_components": 3}), ("binarizer", "preprocessing.Binarizer", {"threshold": 0.3}),
            ("clusters", "cluster.KMeans", {"n_clusters": 4, "random_state": 0, "n_init": 2}), ("mixture", "mixture.GaussianMixture", {"n_components": 3, "random_state": 0}),
            ("isolation", "ensemble.IsolationForest", {"n_estimators": 10, "random_state": 0}), ("one class", "svm.OneClassSVM", {"nu": 0.2})):
        add_estimator(name, path, **kwargs)
    add_estimator("imputer", "impute.SimpleImputer", change=with_gaps, strategy="median", add_indicator=False)


def texts(rows, seed=2):
    random = np.random.default_rng(seed)
    return np.array([" ".join(random.choice(WORDS, random.integers(3, 15))) + random.choice(["!", ".", " 42?"]) for _ in range(rows)], dtype=object)


def add_texts():
    def build(vectorizer, *rest):
        def train():
            import onnx
            from skl2onnx.common.data_types import StringTensorType
            x = texts(TRAINED)
            model = make("pipeline.make_pipeline", vectorizer(), *[make(path) for path in rest])
            model.fit(x, np.arange(TRAINED) % 3)
            options = {"zipmap": False} if rest else {}
            exported = convert(model, [("x", StringTensorType([None]))], **options)
            for node in exported.graph.node:
                # Few machines have the locale en_US.UTF-8, which ONNX Runtime needs where none is named.
                if node.op_type == "StringNormalizer":
                    kept = [attribute for attribute in node.attribute if attribute.name != "locale"]
                    del node.attribute[:]
                    node.attribute.extend([*kept, onnx.helper.make_attribute("locale", "C")])
            return exported, lambda rows: {"x": texts(rows, rows)}, lambda inputs: answers(model, inputs["x"])
        return train
    text = "feature_extraction.text."
    add("counts of words", build(lambda: make(text + "CountVectorizer", token_pattern="[a-zA-Z0-9_]+")))
    add("counts at boundaries", build(lambda: make(text + "CountVectorizer", token_pattern=r"\b[a-zA-Z0-9_]+\b")))
    add("words by default", build(lambda: make(text + "TfidfVectorizer", token_pattern=r"\b\w\w+\b"), "linear_model.LogisticRegression"))
    add("pairs of words", build(lambda: make(text + "TfidfVectorizer", token_pattern="[a-zA-Z0-9_]+", ngram_range=(1, 2)), "naive_bayes.MultinomialNB"))


def table(rows, seed=3):
    random = np.random.default_rng(seed)
    return {"age": random.uniform(18, 80, (rows, 1)).astype(np.float32), "income": random.uniform(0, 9, (rows, 1)).astype(np.float32),
            "colour": random.choice(COLOURS, (rows, 1)).astype(object), "size": random.choice(SIZES, (rows, 1)).astype(object)}


def add_tables():
    def build(encoder, *rest):
        def train():
            from skl2onnx.common.data_types import FloatTensorType, StringTensorType
            import pandas
            data = {name: column[:, 0] for name, column in table(TRAINED).items()}
            columns = make("compose.ColumnTransformer", [("numbers", make("preprocessing.StandardScaler"), ["age", "income"]), ("texts", encoder(), ["colour", "size"])])
            model = make("pipeline.make_pipeline", columns, *[make(path) for path in rest])
            model.fit(pandas.DataFrame(data), np.arange(TRAINED) % 2)
            types = [(name, (StringTensorType if name in ("colour", "size") else FloatTensorType)([None, 1])) for name in data]
            said = lambda inputs: answers(model, pandas.DataFrame({name: column[:, 0] for name, column in inputs.items()}))
            return convert(model, types, **({"zipmap": False} if rest else {})), lambda rows: table(rows, rows), said
        return train
    add("table with known categories", build(lambda: make("preprocessing.OneHotEncoder"), "linear_model.LogisticRegression"), "pandas")
    add("table with categories", build(lambda: make("preprocessing.OneHotEncoder", handle_unknown="ignore"), "ensemble.RandomForestClassifier"), "pandas")
    add("table of numbers of categories", build(lambda: make("preprocessing.OrdinalEncoder"), "ensemble.GradientBoostingClassifier"), "pandas")
    add("table to numbers", build(lambda: make("preprocessing.OneHotEncoder", drop="first")), "pandas")

    def hashed():
        from skl2onnx.common.data_types import StringTensorType
        model = make("feature_extraction.FeatureHasher", n_features=8, input_type="string", alternate_sign=True, dtype=np.float32)
        x = lambda rows: np.stack([table(rows, rows)[name][:, 0] for name in ("colour", "size")], 1)
        model.fit(x(TRAINED))
        return convert(model, [("x", StringTensorType([None, 2]))]), lambda rows: {"x": x(rows)}, lambda inputs: answers(model, inputs["x"])
    add("hashes of texts", hashed)


def categories(x):
    """Columns 0 and 1 become categories."""
    x = x.copy()
    x[:, :2] = np.floor(np.abs(x[:, :2]) * 6)
    return x


def add_boosters():
    def boosted(package, make_model, target, change=lambda x: x, **fit):
        def train():
            import onnxmltools
            from onnxmltools.convert.common.data_types import FloatTensorType
            x = change(draw(TRAINED))
            model = make_model(importlib.import_module(package))
            model.fit(x, target(draw(TRAINED)), **fit)
            how = {"initial_types": [("x", FloatTensorType([None, COLUMNS]))], "target_opset": 15}
            if package == "lightgbm":
                how["zipmap"] = False
            return getattr(onnxmltools, f"convert_{package}")(model, **how), numbers(change), lambda inputs: answers(model, inputs["x"])
        return train
    light, extreme = ("lightgbm", "onnxmltools"), ("xgboost", "onnxmltools")
    small = {"n_estimators": 12, "verbose": -1, "min_child_samples": 3}
    for name, target, kind in (("two", two, "LGBMClassifier"), ("three", three, "LGBMClassifier"), ("a number", score, "LGBMRegressor")):
        add(f"lightgbm of {name}", boosted("lightgbm", lambda package, kind=kind: getattr(package, kind)(**small), target), *light)
    add("lightgbm of categories", boosted("lightgbm", lambda package: package.LGBMClassifier(min_data_per_group=1, cat_smooth=1, max_cat_to_onehot=1, **small), two, categories,
                                          categorical_feature=[0, 1]), *light)
    add("lightgbm with gaps", boosted("lightgbm", lambda package: package.LGBMRegressor(**small), score, with_gaps), *light)
    for name, target, kind in (("two", two, "XGBClassifier"), ("three", three, "XGBClassifier"), ("a number", score, "XGBRegressor")):
        add(f"xgboost of {name}", boosted("xgboost", lambda package, kind=kind: getattr(package, kind)(n_estimators=12, max_depth=4), target), *extreme)
    add("xgboost with gaps", boosted("xgboost", lambda package: package.XGBRegressor(n_estimators=12, max_depth=4), score, with_gaps), *extreme)

    def catboosted(kind, target):
        def train():
            import onnx
            model = getattr(importlib.import_module("catboost"), kind)(iterations=12, depth=4, verbose=False, allow_writing_files=False)
            model.fit(draw(TRAINED), target(draw(TRAINED)))
            with tempfile.TemporaryDirectory() as folder:
                path = str(pathlib.Path(folder) / "m.onnx")
                model.save_model(path, format="onnx")
                exported = onnx.load(path)
            return exported, lambda rows: {"features": draw(rows, rows + 7)}, lambda inputs: answers(model, inputs["features"])
        return train
    for name, target, kind in (("two", two, "CatBoostClassifier"), ("three", three, "CatBoostClassifier"), ("a number", score, "CatBoostRegressor")):
        PIPELINES[f"catboost of {name}"] = (["catboost"], catboosted(kind, target))


add_classifiers()
add_regressors()
add_transformers()
add_texts()
add_tables()
add_boosters()
