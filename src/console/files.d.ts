/** Types of files that the build bundles as assets. */
declare module '*.css';
declare module '*.svg' {
  /** Its address. */
  const url: string;
  export default url;
}
