// CreateContainer, which takes the configurations of both container and sandbox.
import { optional, string } from "#schema";
import { ContainerConfig } from "./container.ts";
import { message } from "./declarations.ts";
import { PodSandboxConfig } from "./sandbox.ts";

export const CreateContainerRequest = message("CreateContainerRequest", "Makes a container.", {
  podSandboxId: optional(1, string, "In which sandbox."),
  config: optional(2, ContainerConfig, "What it shall be."),
  sandboxConfig: optional(3, PodSandboxConfig, "What the sandbox was asked to be."),
});
