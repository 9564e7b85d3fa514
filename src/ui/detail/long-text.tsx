// Shows text from users as plain text with invisible characters made visible, truncated if it is very long.
import { useState } from "preact/hooks";
import { cut, visible } from "../text/visible.ts";

interface LongTextProps {
  readonly text: string;
  readonly initialLimit?: number;
}

/** Maximum number of characters added to the page at once. */
const chunkSize = 100_000;

export function LongText({ text, initialLimit = 600 }: LongTextProps) {
  const [limit, setLimit] = useState(initialLimit);
  const { text: shown, more } = cut(text, limit);
  return (
    <>
      {visible(shown)}
      {more > 0 && (
        <>
          {"… "}
          <button class="link" onClick={() => setLimit(limit + chunkSize)}>
            show {Math.min(more, chunkSize).toLocaleString("en")} more characters
          </button>
        </>
      )}
    </>
  );
}
