/** What the build makes of files that are no programs. */
declare module '*.css';
declare module '*.svg' {
  /** Its address. */
  const url: string;
  export default url;
}
