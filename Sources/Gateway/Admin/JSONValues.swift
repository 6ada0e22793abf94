// What the control plane says and is told: whoever uses the gateway's own values has this one too.
@_exported public import JSONValues
