// The header fields that both sides know by number (RFC 7541, appendix A).

const fields =
  ":authority :method=GET :method=POST :path=/ :path=/index.html :scheme=http :scheme=https :status=200 :status=204 :status=206 :status=304 :status=400 " +
  ":status=404 :status=500 accept-charset accept-encoding=gzip,+deflate accept-language accept-ranges accept access-control-allow-origin age allow " +
  "authorization cache-control content-disposition content-encoding content-language content-length content-location content-range content-type cookie " +
  "date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards " +
  "proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie strict-transport-security transfer-encoding user-agent " +
  "vary via www-authenticate";

export interface Field {
  readonly name: string;
  readonly value: string;
  /** What is wrong with it in a request, or nothing: found once, however often a table gives it. */
  problem: string | undefined;
}

/** Numbered from 1: there is nothing at 0. */
export const staticTable: readonly Field[] = ["", ...fields.split(" ")].map((field) => {
  const [name, value = ""] = field.split("=");
  return { name: name!, value: value.replace("+", " "), problem: undefined };
});

/** The first number of each name. */
export const staticNumbers: ReadonlyMap<string, number> = new Map(
  staticTable.map(({ name }, number) => [name, number] as const).reverse(),
);
