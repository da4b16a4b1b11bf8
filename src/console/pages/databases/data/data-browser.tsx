/** stub */
export default function DataBrowser(_: { readonly database: string }) {
  return null;
}
