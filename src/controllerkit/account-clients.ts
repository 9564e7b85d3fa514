// Clients that authenticate as controllers' service accounts. Tokens are requested on first use and renewed
// before they expire.
import type { Clock } from "#base";
import { type ApiClient, type Transport, apiClient, kinds } from "#client";
import { isAlreadyExists, isNotFound } from "./ignore-reasons.ts";

export interface AccountClientOptions {
  /** Client with permission to create service accounts and tokens. */
  readonly client: ApiClient;
  /** Transport to the same server, without credentials. */
  readonly transport: Transport;
  readonly clock: Clock;
  readonly namespace: string;
}

const lifeSeconds = 3600;
/** A token is renewed when less than this fraction of its lifetime is left. */
const margin = 0.2;

/**
 * Returns a function that maps an account's name to its client. A missing account is created on first use.
 */
export function accountClients(options: AccountClientOptions): (account: string) => ApiClient {
  const clients = new Map<string, ApiClient>();
  return (account) => {
    let cached = clients.get(account);
    if (!cached)
      clients.set(account, (cached = apiClient(accountTransport(options, account), options.client.dialect)));
    return cached;
  };
}

function accountTransport(options: AccountClientOptions, account: string): Transport {
  const { transport, clock } = options;
  let current: { readonly token: Promise<string>; readonly until: number } | undefined;
  const tokenNow = (): Promise<string> => {
    if (!current || clock.now() >= current.until) {
      const token = requestToken(options, account);
      const issued = { token, until: clock.now() + lifeSeconds * (1 - margin) * 1000 };
      current = issued;
      token.catch(() => {
        if (current === issued) current = undefined;
      });
    }
    return current.token;
  };
  return {
    send: async (request) => {
      const token = await tokenNow();
      const headers = { ...request.headers, authorization: `Bearer ${token}` };
      const response = await transport.send({ ...request, headers });
      // The account may have been deleted and recreated, which invalidates its tokens.
      if (response.status === 401) current = undefined;
      return response;
    },
    close: () => undefined,
  };
}

async function requestToken({ client, namespace }: AccountClientOptions, name: string): Promise<string> {
  const createToken = async (): Promise<string> => {
    const request = { metadata: {}, spec: { audiences: [], expirationSeconds: lifeSeconds } };
    const at = { namespace, name, subresource: "token" };
    const { status } = await client.of(kinds.tokenRequests).create(request as never, at);
    return status.token;
  };
  try {
    return await createToken();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    try {
      await client.of(kinds.serviceAccounts).create({ metadata: { name, namespace } });
    } catch (failed) {
      if (!isAlreadyExists(failed)) throw failed;
    }
    return await createToken();
  }
}
