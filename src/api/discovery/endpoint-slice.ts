// Endpoint slices: the addresses behind services.
import { type TypeOf, bool, embedded, int32, list, map, optional, pointer, required, string } from "#schema";
import { ObjectReference } from "../core/reference.ts";
import { hiddenDefault, openEnum, setList, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Protocol } from "../named-types.ts";
import { discovery } from "../packages.ts";

const { message, kind, named } = discovery;

export const EndpointConditions = message("EndpointConditions", "Conditions of an endpoint.", {
  ready: pointer(
    1,
    bool,
    "Whether the endpoint is ready to receive traffic; unset should be interpreted as true.",
  ),
  serving: pointer(2, bool, "Like ready, but also true for ready endpoints that are terminating."),
  terminating: pointer(3, bool, "Whether the endpoint is terminating."),
});
export type EndpointConditions = TypeOf<typeof EndpointConditions>;

export const ForZone = message("ForZone", "A zone that should consume an endpoint.", {
  name: required(1, string, "Name of the zone."),
});
export type ForZone = TypeOf<typeof ForZone>;

export const EndpointHints = message("EndpointHints", "Hints on which consumers should use an endpoint.", {
  forZones: optional(
    1,
    list(ForZone),
    "Zones that should consume the endpoint, for topology aware routing.",
    atomicList,
  ),
});
export type EndpointHints = TypeOf<typeof EndpointHints>;

export const Endpoint = message("Endpoint", "A logical backend of a service.", {
  addresses: required(
    1,
    list(string),
    "Addresses of the endpoint, which are interchangeable; consumers use the first.",
    setList,
  ),
  conditions: embedded(2, EndpointConditions, "Conditions of the endpoint."),
  hostname: pointer(3, string, "Host name of the endpoint."),
  targetRef: optional(4, ObjectReference, "Object that provides the endpoint."),
  deprecatedTopology: optional(5, map(string), "Deprecated topology labels of the endpoint."),
  nodeName: pointer(6, string, "Name of the node that hosts the endpoint."),
  zone: pointer(7, string, "Name of the zone in which the endpoint is."),
  hints: optional(8, EndpointHints, "Hints on which consumers should use the endpoint."),
});
export type Endpoint = TypeOf<typeof Endpoint>;

export const EndpointPort = message(
  "EndpointPort",
  "A port of the endpoints of a slice.",
  {
    name: pointer(
      1,
      string,
      "Name of the port, which matches that of the service port; empty by default.",
      hiddenDefault(""),
    ),
    protocol: pointer(2, Protocol, "Protocol of the port: UDP, TCP or SCTP.", {
      ...openEnum("SCTP", "TCP", "UDP"),
      ...hiddenDefault("TCP"),
    }),
    port: pointer(3, int32, "Port number; unset is interpreted according to the consumer."),
    appProtocol: pointer(4, string, "Application protocol of the port, as a hint for implementations."),
  },
  { atomic: true },
);
export type EndpointPort = TypeOf<typeof EndpointPort>;

export const EndpointSlice = kind("EndpointSlice", "A subset of the endpoints of a service.", {
  metadata: embedded(1, ObjectMeta, "Standard object metadata."),
  addressType: required(
    4,
    named("AddressType", string),
    "Type of the addresses: IPv4, IPv6 or FQDN; immutable.",
    openEnum("FQDN", "IPv4", "IPv6"),
  ),
  endpoints: required(2, list(Endpoint), "Endpoints of the slice.", atomicList),
  ports: required(3, list(EndpointPort), "Ports exposed by each endpoint of the slice.", {
    ...atomicList,
    published: "optional",
  }),
});
export type EndpointSlice = TypeOf<typeof EndpointSlice>;
