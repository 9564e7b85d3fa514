/** As in URLs: addresses of IPv6 stand in brackets. */
export const hostAndPort = (host: string, port: number): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;
