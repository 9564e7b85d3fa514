// Node's own HTTP/2, loaded when somebody first connects: a server that calls nobody starts without it.

export const nodeHttp2 = () => process.getBuiltinModule("node:http2");
