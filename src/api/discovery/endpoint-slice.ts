// Endpoint slices: the addresses behind services.
import { type TypeOf, bool, embedded, int32, list, map, optional, pointer, required, string } from "#schema";
import { ObjectReference } from "../core/reference.ts";
import { hiddenDefault, openEnum, setList, atomicList } from "../extras.ts";
import { ObjectMeta } from "../meta/object-meta.ts";
import { Protocol } from "../named-types.ts";
import { discovery } from "../packages.ts";

const { message, kind, named } = discovery;

export const EndpointConditions = message("EndpointConditions", "How an endpoint is.", {
  ready: pointer(1, bool, "Whether it takes new connections; unset counts as yes."),
  serving: pointer(2, bool, "Like ready, also while terminating."),
  terminating: pointer(3, bool, "Whether it is on its way out."),
});
export type EndpointConditions = TypeOf<typeof EndpointConditions>;

export const ForZone = message("ForZone", "A zone that should use an endpoint.", {
  name: required(1, string, "Name of the zone."),
});
export type ForZone = TypeOf<typeof ForZone>;

export const EndpointHints = message("EndpointHints", "Who should use an endpoint.", {
  forZones: optional(1, list(ForZone), "Zones that should use it.", atomicList),
});
export type EndpointHints = TypeOf<typeof EndpointHints>;

export const Endpoint = message("Endpoint", "One backend of a service.", {
  addresses: required(1, list(string), "Its addresses, all equal; the first is used.", setList),
  conditions: embedded(2, EndpointConditions, "How it is."),
  hostname: pointer(3, string, "Its host name."),
  targetRef: optional(4, ObjectReference, "The object behind it."),
  deprecatedTopology: optional(5, map(string), "Where it is, in the older form."),
  nodeName: pointer(6, string, "Node it is on."),
  zone: pointer(7, string, "Zone it is in."),
  hints: optional(8, EndpointHints, "Who should use it."),
});
export type Endpoint = TypeOf<typeof Endpoint>;

export const EndpointPort = message(
  "EndpointPort",
  "One port of the endpoints.",
  {
    name: pointer(1, string, "Name of the port, as in the service.", hiddenDefault("")),
    protocol: pointer(2, Protocol, "UDP, TCP or SCTP.", {
      ...openEnum("SCTP", "TCP", "UDP"),
      ...hiddenDefault("TCP"),
    }),
    port: pointer(3, int32, "The port; unset leaves it open."),
    appProtocol: pointer(4, string, "What is spoken over the port, as a hint."),
  },
  { atomic: true },
);
export type EndpointPort = TypeOf<typeof EndpointPort>;

export const EndpointSlice = kind("EndpointSlice", "Some of the endpoints of a service.", {
  metadata: embedded(1, ObjectMeta, "Name, labels and whatever else every object carries."),
  addressType: required(
    4,
    named("AddressType", string),
    "IPv4, IPv6 or FQDN; never changes.",
    openEnum("FQDN", "IPv4", "IPv6"),
  ),
  endpoints: required(2, list(Endpoint), "The endpoints.", atomicList),
  ports: required(3, list(EndpointPort), "Ports on each of them.", { ...atomicList, published: "optional" }),
});
export type EndpointSlice = TypeOf<typeof EndpointSlice>;
