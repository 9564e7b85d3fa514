// The credentials of a request, as authenticators read them.
import { type Credentials, bearerToken } from "#authn";
import { type Call, header, headerList } from "#http";

const beyondAscii = /[\x80-\xff]/;

/** Header bytes are decoded as Latin-1; user names in them are UTF-8. */
const asUtf8 = (value: string): string => Buffer.from(value, "latin1").toString("utf8");

export class CallCredentials implements Credentials {
  readonly #call: Call;
  readonly bearerToken: string | undefined;
  readonly path: string;
  constructor(call: Call, path: string) {
    this.#call = call;
    this.path = path;
    this.bearerToken = bearerToken(header(call.headers, "authorization"));
  }
  headers(name: string): readonly string[] {
    const values = headerList(this.#call.headers, name);
    return values.some((value) => beyondAscii.test(value)) ? values.map(asUtf8) : values;
  }
  headerNames(): Iterable<string> {
    return Object.keys(this.#call.headers);
  }
  get certificates(): Credentials["certificates"] {
    return this.#call.peer.certificates();
  }
}
