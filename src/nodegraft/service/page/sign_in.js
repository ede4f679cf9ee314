// The form that asks for an API token.

import { byId, show } from "./elements.js";
import { token } from "./request.js";

export function askForToken(message) {
  for (const id of ["panels", "caller", "review"]) if (byId(id)) byId(id).hidden = true;
  byId("sign-in").hidden = false;
  show(byId("sign-in-status"), message, true);
  byId("token").focus();
}

export function startSignIn(open) {
  byId("sign-in-form").addEventListener("submit", (event) => {
    event.preventDefault();
    token.set(byId("token").value.trim());
    byId("token").value = "";
    open();
  });
  byId("sign-out")?.addEventListener("click", () => {
    token.remove();
    askForToken("");
  });
}
