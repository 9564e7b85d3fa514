// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.networking.v1", group: "networking", branded: true, version: "v1" });
