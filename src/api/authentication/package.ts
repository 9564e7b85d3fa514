// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "api.authentication.v1", group: "authentication", branded: true, version: "v1" });
