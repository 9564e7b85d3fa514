// Where the declarations of this folder belong.
import { apiPackage } from "#schema";

export const { message, kind } = apiPackage({ package: "apimachinery.pkg.apis.meta.v1", version: "v1" });
/** Of the metadata group itself: shapes that answers are rendered in. */
export const { kind: metaKind } = apiPackage({ package: "apimachinery.pkg.apis.meta.v1", group: "meta", branded: true, version: "v1" });
