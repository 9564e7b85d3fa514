// Shows text from users as plain text with invisible characters made visible, truncated if it is very long.
import { useState } from "preact/hooks";
import { cut, visible } from "../text/visible.ts";

interface LongTextProps {
  readonly text: string;
  readonly most?: number;
}

/** Maximum number of characters added to the page at once. */
const atOnce = 100_000;

export function LongText({ text, most = 600 }: LongTextProps) {
  const [limit, setLimit] = useState(most);
  const { text: shown, more } = cut(text, limit);
  return (
    <>
      {visible(shown)}
      {more > 0 && (
        <>
          {"… "}
          <button class="link" onClick={() => setLimit(limit + atOnce)}>
            show {Math.min(more, atOnce).toLocaleString("en")} more characters
          </button>
        </>
      )}
    </>
  );
}
