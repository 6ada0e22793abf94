// What is asked of the admin endpoint. The token lives in this tab's session storage and nowhere else.

const TOKEN_KEY = "turnout-admin-token";
const REQUEST_TIME = 10_000;

const token = {
  get() { try { return sessionStorage.getItem(TOKEN_KEY) ?? ""; } catch { return token.held ?? ""; } },
  set(value) {
    token.held = value;
    try { sessionStorage.setItem(TOKEN_KEY, value); } catch { /* Storage is off: it lasts as long as the page. */ }
  },
};

class RequestError extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

/** JSON whose numbers beyond what a double can tell apart stay as they were written, where the browser says how. */
function parse(text) {
  if (!/[0-9]{16}/.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_, value, context) =>
    typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value);
}

async function request(method, path, body) {
  const headers = { Accept: "application/json" };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), REQUEST_TIME);
  try {
    const answer = await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: ending.signal,
      cache: "no-store", credentials: "omit", redirect: "error",
    });
    const text = await answer.text();
    let value = null;
    try { value = parse(text); } catch { /* Whoever answers there need not speak JSON. */ }
    if (!answer.ok) throw new RequestError(value?.error ?? `the gateway answered ${answer.status}`, answer.status);
    if (value === null) throw new RequestError("the gateway's answer is not JSON");
    return value;
  } catch (error) {
    if (error instanceof RequestError) throw error;
    throw new RequestError(ending.signal.aborted ? "no answer in time" : "the gateway cannot be reached");
  } finally {
    clearTimeout(timer);
  }
}

/** The same, and asks for the token when the endpoint wants one; throws what came when the question is cancelled. */
async function requestWithToken(method, path, body) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await request(method, path, body);
    } catch (error) {
      if (error.status !== 401 || !(await askForToken(tries > 0 || token.get() !== ""))) throw error;
    }
  }
}

const pathOf = (procedure, rest = "") => `/routes/${procedure.split("/").map(encodeURIComponent).join("/")}${rest}`;
