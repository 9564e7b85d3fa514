// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "apiextensions-apiserver.pkg.apis.apiextensions.v1", group: "apiextensions", branded: true, version: "v1" });
