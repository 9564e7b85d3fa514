// The static table of header compression (RFC 7541, appendix A).

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
  /** Why the field is invalid in a request, or empty; cached for fields that tables return repeatedly. */
  problem: string | undefined;
}

/** Indexes start at 1; the entry at 0 is unused. */
export const staticTable: readonly Field[] = ["", ...fields.split(" ")].map((field) => {
  const [name, value = ""] = field.split("=");
  return { name: name!, value: value.replace("+", " "), problem: undefined };
});

/** The first index of each name. */
export const staticNumbers: ReadonlyMap<string, number> = new Map(
  staticTable.map(({ name }, number) => [name, number] as const).reverse(),
);
