// A text of others: as text, with what is invisible shown, and only a part of it when it is very long.
import { useState } from "preact/hooks";
import { cut, visible } from "../text/visible.ts";

interface LongTextProps {
  readonly text: string;
  readonly most?: number;
}

/** More than this is not put on the page at once, whoever asks. */
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
