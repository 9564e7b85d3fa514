// Logs requests to webhooks at the levels of client-go: from 6 on the URL and outcome, from 7 on headers,
// from 8 on bodies. No level shows credentials, or bodies of objects that contain some.
import { STATUS_CODES } from "node:http";
import type { WebhookExchange } from "#admission";
import type { Log } from "#base";

/** Maximum number of characters of a body by level; unlimited at 10. */
const bodyCharacters: Readonly<Record<number, number>> = { 8: 1024, 9: 10_240, 10: Infinity };
const highest = 10;

export const outgoingLog =
  (log: Log) =>
  (exchange: WebhookExchange): void => {
    if (!log.enabled(6)) return;
    const { url, status, seconds, requestHeaders, responseHeaders } = exchange;
    const ended = `${status === undefined ? "" : `${status} ${STATUS_CODES[status] ?? ""}`} in ${Math.round(seconds * 1000)} milliseconds`;
    const level = [10, 9, 8, 7, 6].find((each) => log.enabled(each))!;
    if (level === 6) return log.verbose(6, `POST ${url} ${ended}`);
    log.verbose(7, `POST ${url}`);
    log.verbose(7, "Request Headers:");
    for (const [name, value] of requestHeaders()) log.verbose(7, `    ${headerText(name, value)}`);
    log.verbose(7, `Response Status: ${ended}`);
    if (level < 8) return;
    log.verbose(8, "Response Headers:");
    for (const [name, value] of responseHeaders ?? []) log.verbose(8, `    ${headerText(name, value)}`);
    log.verbose(8, `Request Body: ${bodyText(exchange, exchange.requestBody, level)}`);
    if (exchange.responseBody !== undefined)
      log.verbose(8, `Response Body: ${bodyText(exchange, exchange.responseBody, level)}`);
  };

const credentials = new Set(["authorization", "proxy-authorization", "cookie", "set-cookie"]);

function headerText(name: string, value: string): string {
  const shown = name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
  if (!credentials.has(name.toLowerCase())) return `${shown}: ${value}`;
  const scheme = /^(?:Basic|Bearer|Negotiate)\b/i.exec(value)?.[0];
  return `${shown}: ${scheme ? `${scheme} ` : ""}<masked>`;
}

function bodyText({ confidential }: WebhookExchange, body: string, level: number): string {
  if (confidential) return "<masked>";
  const most = bodyCharacters[Math.min(level, highest)]!;
  return body.length > most ? `${body.slice(0, most)} [truncated ${body.length - most} chars]` : body;
}
