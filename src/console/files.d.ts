/** Types of files that the build bundles as assets. */
declare module '*.css';
declare module '*.svg' {
  /** Its address. */
  const url: string;
  export default url;
}
/** Examples of first calls, which infra/build-console.mjs takes from the OpenAPI document. */
declare module '#first-calls' {
  const calls: Readonly<Record<string, readonly { readonly label: string; readonly source: string }[]>>;
  export default calls;
}
