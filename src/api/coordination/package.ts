// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.coordination.v1", group: "coordination", branded: true, version: "v1" });
