// Error texts for the response status of a webhook or other server called by ours, as in client-go: they end
// up in errors that people search for.

const texts: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};
/** For these statuses the response body is the error text. */
const statusesWithBodyText = [403, 406, 415];

/** `type` is the response's content type; without one, the body is parsed as a document if possible. */
export function responseErrorText(status: number, body: string, type = ""): string {
  const { message, text }: ParsedBody = type.startsWith("text/")
    ? { text: body.trim() }
    : parseBody(body, type === "" ? body.trim() : "unknown");
  if (message !== undefined) return message;
  if (statusesWithBodyText.includes(status)) return text;
  return (
    texts[status] ??
    (status >= 500
      ? `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
      : `the server responded with the status code ${status} but did not return more information`)
  );
}

interface ParsedBody {
  readonly message?: string;
  readonly text: string;
}

/**
 * Returns the message of a Status (or an object without kind) that reports a failure; otherwise a placeholder
 * for the body.
 */
function parseBody(body: string, unreadable: string): ParsedBody {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { text: unreadable };
  }
  const { kind, status, message } = (value ?? {}) as { kind?: unknown; status?: unknown; message?: unknown };
  return (kind ?? "Status") === "Status" && status === "Failure" && typeof message === "string"
    ? { message, text: message }
    : { text: "unknown" };
}
