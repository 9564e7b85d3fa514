// A request as authenticators see it.
import { type Credentials, bearerToken } from "#authn";
import { type Call, header, headerList } from "#http";

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
    return headerList(this.#call.headers, name);
  }
  headerNames(): Iterable<string> {
    return Object.keys(this.#call.headers);
  }
  get certificates(): Credentials["certificates"] {
    return this.#call.peer.certificates();
  }
}
