"""Random HTTP rules over a message, and what no rule can carry."""

from google.protobuf.descriptor import FieldDescriptor as Field

TEXTUAL = {"Timestamp", "Duration", "FieldMask", "DoubleValue", "FloatValue", "Int64Value", "UInt64Value",
           "Int32Value", "UInt32Value", "BoolValue", "StringValue", "BytesValue"}


def standard(descriptor):
    return descriptor is not None and descriptor.full_name.startswith("google.protobuf.")


def is_textual(field):
    return field.message_type is None or (standard(field.message_type) and field.message_type.name in TEXTUAL)


def is_open(field):
    return field.message_type is not None and not field.is_repeated and not standard(field.message_type)


def random_rule(rng, descriptor):
    """Method, path and body: up to three variables, nested ones too, some of them over several segments."""
    method = rng.choice(["GET", "POST", "PUT", "PATCH", "DELETE"])
    path, used = "/v1", []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        chain = variable(rng, descriptor)
        if chain is None or any(chain == other or chain[:len(other)] == other for other in used):
            continue
        used.append(chain)
        name = ".".join(field.name for field in chain)
        text = chain[-1].type == Field.TYPE_STRING and not chain[-1].is_repeated
        form = rng.choice(["{%s}", "{%s=*}", "lit/{%s}"] + ["{%s=a/*}", "{%s=*/b/*}"] * text)
        path += "/" + form % name
    if used and used[-1][-1].type == Field.TYPE_STRING and rng.random() < 0.2:
        path = path[:path.rindex("{")] + "{%s=**}" % ".".join(field.name for field in used[-1])
    if rng.random() < 0.2:
        path += ":do"
    fields = [field.name for field in descriptor.fields]
    body = rng.choice(["*", "*", "", ""] + rng.sample(fields, min(2, len(fields))))
    if method == "PATCH" and body not in ("", "*"):
        # It would fill a FieldMask from the body.
        method = "PUT"
    return method, path, body


def variable(rng, descriptor):
    """The fields of a path from the message down; nil when there is none."""
    chain = []
    for _ in range(3):
        fields = [field for field in descriptor.fields if not field.is_repeated and (is_textual(field) or is_open(field))]
        if not fields:
            return None
        field = rng.choice(fields)
        chain.append(field)
        if not is_open(field):
            return chain
        descriptor = field.message_type
    return None


def without_what_a_query_loses(rng, message, rule):
    """Makes most messages fit: path values that are set and fit, and nothing for the query that it cannot hold.

    Lost without a refusal is only whether something empty is there: messages in a query, which are taken out, and the
    field that is the body, which is set.
    """
    _, path, body = rule
    if body != "*":
        prune(rng, message, body)
        drop_empty(message, body)
    if body not in ("", "*"):
        set_body(message, body)
    for name, form in variables(path):
        fit(rng, message, name.split("."), form)


def set_body(message, name):
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.is_repeated or not field.has_presence or message.HasField(name):
        return
    if field.message_type is None:
        setattr(message, name, getattr(message, name))
    elif field.message_type.full_name == "google.protobuf.Value":
        getattr(message, name).null_value = 0
    elif not is_textual(field):
        getattr(message, name).SetInParent()


def variables(path):
    for part in path.split("{")[1:]:
        inside = part.split("}")[0]
        name, _, form = inside.partition("=")
        yield name, form or "*"


def prune(rng, message, body):
    """Takes out what a query cannot hold, mostly; what stays must be refused."""
    for field, value in message.ListFields():
        if field.name == body and not field.is_extension:
            continue
        keeps = is_textual(field) and not is_map(field) or is_open(field)
        if not keeps and rng.random() < 0.97:
            message.ClearExtension(field) if field.is_extension else message.ClearField(field.name)
        elif is_open(field):
            prune(rng, value, None)


def is_map(field):
    return field.is_repeated and field.message_type is not None and field.message_type.GetOptions().map_entry


def drop_empty(message, body):
    for field, value in message.ListFields():
        if field.name == body and not field.is_extension:
            continue
        if is_open(field):
            drop_empty(value, None)
            if not value.ListFields():
                message.ClearExtension(field) if field.is_extension else message.ClearField(field.name)
        elif standard(field.message_type) and field.message_type.name == "Empty" and not field.is_repeated:
            message.ClearExtension(field) if field.is_extension else message.ClearField(field.name)


def fit(rng, message, names, form):
    """Sets a string so that it fits its variable; other kinds stay, or stay unset."""
    for name in names[:-1]:
        message = getattr(message, name)
        message.SetInParent()
    field = message.DESCRIPTOR.fields_by_name[names[-1]]
    if field.type == Field.TYPE_STRING:
        piece = rng.choice(["x", "a b", "é/ü", "%2F", "100%", "a:b", "?&=#+;", "\U0001F600", "..."])
        if form == "*":
            text = piece
        else:
            piece = piece.replace("/", "-").replace("%2F", "%")
            text = form.replace("**", rng.choice(["", "x", "x/y"])).replace("*", piece)
        setattr(message, field.name, rng.choice([text, text, text, text, "", ".."]))
    elif field.message_type is None and field.has_presence and not message.HasField(names[-1]):
        setattr(message, names[-1], getattr(message, names[-1]))
