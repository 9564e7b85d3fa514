// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.autoscaling.v1", group: "autoscaling", version: "v1" });
