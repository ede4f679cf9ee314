// All routes of the service, shown and tried out with Swagger UI; the token is that of the page.

import { byId } from "./elements.js";
import { request, token } from "./request.js";
import { askForToken, startSignIn } from "./sign_in.js";

async function open() {
  let spec;
  try {
    spec = await request("openapi.json");
  } catch (error) {
    return askForToken(error.status === 401 && !token.get() ? "" : error.message);
  }
  byId("sign-in").hidden = true;
  const { SwaggerUIBundle } = window;
  SwaggerUIBundle({
    spec,
    domNode: byId("routes"),
    deepLinking: true,
    // Nothing is sent to another host to check the document.
    validatorUrl: null,
    requestInterceptor: (sent) => {
      if (token.get() && !sent.headers.Authorization) sent.headers.Authorization = `Bearer ${token.get()}`;
      return sent;
    },
  });
}

startSignIn(open);
open();
