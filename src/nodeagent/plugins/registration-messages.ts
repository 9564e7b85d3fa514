// The messages of plugin registration (pluginregistration v1): a plugin serves a socket in the agent's
// directory and is notified whether it was registered.
import type { MessageOf } from "#cri";
import { apiPackage, bool, list, optional, required, string } from "#schema";
import { procedureOf } from "../grpc-procedure.ts";

const { message } = apiPackage({ package: "pluginregistration" });

const InfoRequest = message("InfoRequest", "Requests the info of a plugin.", {});
const PluginInfo = message("PluginInfo", "Describes a plugin.", {
  type: required(1, string, "Plugin type."),
  name: required(2, string, "Plugin name."),
  endpoint: required(3, string, "Endpoint of the plugin; empty means this socket."),
  supportedVersions: required(4, list(string), "Supported versions."),
});
const RegistrationStatus = message("RegistrationStatus", "Result of the registration.", {
  pluginRegistered: optional(1, bool, "Whether the plugin was registered."),
  error: optional(2, string, "Error message."),
});
const RegistrationStatusResponse = message(
  "RegistrationStatusResponse",
  "Response to the registration status.",
  {},
);

export type PluginInfo = MessageOf<typeof PluginInfo>;

export const registration = {
  info: procedureOf("/pluginregistration.Registration/GetInfo", InfoRequest, PluginInfo),
  notify: procedureOf(
    "/pluginregistration.Registration/NotifyRegistrationStatus",
    RegistrationStatus,
    RegistrationStatusResponse,
  ),
};
