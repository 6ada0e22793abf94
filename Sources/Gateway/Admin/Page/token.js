// Asks for the admin token when the endpoint wants one.

let answerToken = null;

/** - Returns: whether there is a token to try now. */
function askForToken(wasWrong) {
  if (answerToken) return Promise.resolve(false);
  setText(byId("token-why"), "The admin endpoint wants its token: admin.token of the configuration.");
  setText(byId("token-problem"), "The token that was given is not the right one.");
  setHidden(byId("token-problem"), !wasWrong);
  byId("token-value").value = "";
  byId("token").showModal();
  byId("token-value").focus();
  return new Promise((resolve) => { answerToken = resolve; });
}

function wireToken() {
  const dialog = byId("token");
  const finish = (hasToken) => {
    const resolve = answerToken;
    answerToken = null;
    dialog.close();
    resolve?.(hasToken);
  };
  byId("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const value = byId("token-value").value.trim();
    byId("token-value").value = "";
    const isLegal = /^[\x21-\x7e]+$/.test(value);
    if (!isLegal) {
      setText(byId("token-problem"), value ? "A token has visible ASCII characters only." : "Type the token, or cancel.");
      return setHidden(byId("token-problem"), false);
    }
    token.set(value);
    finish(true);
  });
  byId("token-cancel").addEventListener("click", () => finish(false));
  dialog.addEventListener("cancel", (event) => { event.preventDefault(); finish(false); });
}
