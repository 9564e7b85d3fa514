// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.autoscaling.v2", group: "autoscaling", version: "v2" });
