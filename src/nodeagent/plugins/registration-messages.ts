// The messages of plugin registration (pluginregistration v1): a plugin serves a socket in the agent's
// directory and is notified whether it was registered.
import type { MessageOf } from "#cri";
import { apiPackage, bool, list, optional, required, string } from "#schema";
import { procedureOf } from "../grpc-procedure.ts";

const { message } = apiPackage({ package: "pluginregistration" });

const InfoRequest = message("InfoRequest", "Who are you?", {});
const PluginInfo = message("PluginInfo", "What a plug-in is.", {
  type: required(1, string, "Its kind."),
  name: required(2, string, "Its name."),
  endpoint: required(3, string, "The socket that it serves; empty for this one."),
  supportedVersions: required(4, list(string), "The versions that it speaks."),
});
const RegistrationStatus = message("RegistrationStatus", "What became of it.", {
  pluginRegistered: optional(1, bool, "Whether it was taken."),
  error: optional(2, string, "Why not."),
});
const RegistrationStatusResponse = message("RegistrationStatusResponse", "Understood.", {});

export type PluginInfo = MessageOf<typeof PluginInfo>;

export const registration = {
  info: procedureOf("/pluginregistration.Registration/GetInfo", InfoRequest, PluginInfo),
  notify: procedureOf(
    "/pluginregistration.Registration/NotifyRegistrationStatus",
    RegistrationStatus,
    RegistrationStatusResponse,
  ),
};
