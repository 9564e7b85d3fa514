/** Joins host and port as in URLs: IPv6 addresses are put in brackets. */
export const hostAndPort = (host: string, port: number): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;
