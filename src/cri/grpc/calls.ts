// The methods of the CRI RuntimeService and ImageService.
import type { GrpcMethod } from "#http";
import { type Message, protobufCodec } from "#schema";
import * as c from "../messages/container.ts";
import { CreateContainerRequest } from "../messages/creation.ts";
import * as i from "../messages/image.ts";
import type { MessageOf } from "../messages/declarations.ts";
import * as r from "../messages/runtime.ts";
import * as s from "../messages/sandbox.ts";
import * as t from "../messages/stats.ts";

export interface CriMethod<Q, R> extends GrpcMethod<Q, R> {
  readonly name: string;
  readonly request: Message;
  readonly response: Message;
}

const method =
  (service: string) =>
  <Q extends Message, R extends Message>(
    name: string,
    request: Q,
    response: R,
  ): CriMethod<MessageOf<Q>, MessageOf<R>> => {
    const [encoder, decoder] = [
      protobufCodec(request, { style: "proto3" }),
      protobufCodec(response, { style: "proto3" }),
    ];
    return {
      name,
      request,
      response,
      path: `/runtime.v1.${service}/${name}`,
      encode: (message) => encoder.encode(message as Parameters<typeof encoder.encode>[0]),
      decode: (bytes) => decoder.decode(bytes) as MessageOf<R>,
    };
  };
const runtime = method("RuntimeService");
const image = method("ImageService");

export const calls = {
  version: runtime("Version", r.VersionRequest, r.VersionResponse),
  status: runtime("Status", r.StatusRequest, r.StatusResponse),
  updateRuntimeConfig: runtime(
    "UpdateRuntimeConfig",
    r.UpdateRuntimeConfigRequest,
    r.UpdateRuntimeConfigResponse,
  ),
  getContainerEvents: runtime("GetContainerEvents", r.GetEventsRequest, r.ContainerEventResponse),

  runPodSandbox: runtime("RunPodSandbox", s.RunPodSandboxRequest, s.RunPodSandboxResponse),
  stopPodSandbox: runtime("StopPodSandbox", s.StopPodSandboxRequest, s.StopPodSandboxResponse),
  removePodSandbox: runtime("RemovePodSandbox", s.RemovePodSandboxRequest, s.RemovePodSandboxResponse),
  podSandboxStatus: runtime("PodSandboxStatus", s.PodSandboxStatusRequest, s.PodSandboxStatusResponse),
  listPodSandbox: runtime("ListPodSandbox", s.ListPodSandboxRequest, s.ListPodSandboxResponse),
  portForward: runtime("PortForward", s.PortForwardRequest, c.StreamingResponse),

  createContainer: runtime("CreateContainer", CreateContainerRequest, c.CreateContainerResponse),
  startContainer: runtime("StartContainer", c.StartContainerRequest, c.StartContainerResponse),
  stopContainer: runtime("StopContainer", c.StopContainerRequest, c.StopContainerResponse),
  removeContainer: runtime("RemoveContainer", c.RemoveContainerRequest, c.RemoveContainerResponse),
  containerStatus: runtime("ContainerStatus", c.ContainerStatusRequest, c.ContainerStatusResponse),
  listContainers: runtime("ListContainers", c.ListContainersRequest, c.ListContainersResponse),
  updateContainerResources: runtime(
    "UpdateContainerResources",
    c.UpdateContainerResourcesRequest,
    c.UpdateContainerResourcesResponse,
  ),
  reopenContainerLog: runtime(
    "ReopenContainerLog",
    c.ReopenContainerLogRequest,
    c.ReopenContainerLogResponse,
  ),
  checkpointContainer: runtime(
    "CheckpointContainer",
    c.CheckpointContainerRequest,
    c.CheckpointContainerResponse,
  ),
  execSync: runtime("ExecSync", c.ExecSyncRequest, c.ExecSyncResponse),
  exec: runtime("Exec", c.ExecRequest, c.StreamingResponse),
  attach: runtime("Attach", c.AttachRequest, c.StreamingResponse),

  containerStats: runtime("ContainerStats", t.ContainerStatsRequest, t.ContainerStatsResponse),
  listContainerStats: runtime(
    "ListContainerStats",
    t.ListContainerStatsRequest,
    t.ListContainerStatsResponse,
  ),
  podSandboxStats: runtime("PodSandboxStats", t.PodSandboxStatsRequest, t.PodSandboxStatsResponse),
  listPodSandboxStats: runtime(
    "ListPodSandboxStats",
    t.ListPodSandboxStatsRequest,
    t.ListPodSandboxStatsResponse,
  ),
  listMetricDescriptors: runtime(
    "ListMetricDescriptors",
    t.ListMetricDescriptorsRequest,
    t.ListMetricDescriptorsResponse,
  ),
  listPodSandboxMetrics: runtime(
    "ListPodSandboxMetrics",
    t.ListPodSandboxMetricsRequest,
    t.ListPodSandboxMetricsResponse,
  ),

  listImages: image("ListImages", i.ListImagesRequest, i.ListImagesResponse),
  imageStatus: image("ImageStatus", i.ImageStatusRequest, i.ImageStatusResponse),
  pullImage: image("PullImage", i.PullImageRequest, i.PullImageResponse),
  removeImage: image("RemoveImage", i.RemoveImageRequest, i.RemoveImageResponse),
  imageFsInfo: image("ImageFsInfo", i.ImageFsInfoRequest, i.ImageFsInfoResponse),
} as const;
