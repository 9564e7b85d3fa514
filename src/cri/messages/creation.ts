// CreateContainer, which takes the configurations of both container and sandbox.
import { optional, string } from "#schema";
import { ContainerConfig } from "./container.ts";
import { message } from "./declarations.ts";
import { PodSandboxConfig } from "./sandbox.ts";

export const CreateContainerRequest = message("CreateContainerRequest", "Creates a container in a sandbox.", {
  podSandboxId: optional(1, string, "Sandbox ID."),
  config: optional(2, ContainerConfig, "Container configuration."),
  sandboxConfig: optional(3, PodSandboxConfig, "Configuration of the sandbox."),
});
