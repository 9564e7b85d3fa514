// Entry point of the page.
import { render } from "preact";
import { App } from "./shell/app.tsx";
import { session } from "./shell/session.ts";
import "./styles/main.css";

/** The path of the timeline group, defined by the build. */
declare const timelinePath: string;

const root = document.getElementById("app")!;
root.replaceChildren();
render(
  <App
    timeline={timelinePath}
    session={session({
      storage: sessionStorage,
      fetch: (path, init) => fetch(path, init),
      hash: () => location.hash,
      clearHash: () => history.replaceState(null, "", "#/overview"),
    })}
  />,
  root,
);
