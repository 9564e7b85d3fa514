// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.scheduling.v1", group: "scheduling", branded: true, version: "v1" });
