// Style sheets are bundled; as modules they export nothing.
declare module "*.css";
