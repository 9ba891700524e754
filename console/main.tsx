/** Starts the console. */
import { render } from "preact";
import { App } from "./app.tsx";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/frame.css";
import "./styles/panes.css";

const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
}
