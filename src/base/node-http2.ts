// Node's HTTP/2 module, loaded with the first outgoing connection: a server without any starts without the
// module.

export const nodeHttp2 = () => process.getBuiltinModule("node:http2");
