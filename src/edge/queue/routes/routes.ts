/** How a resource says which calls it answers. */
import type { QueueCall } from '../queue-call.js';

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

/** Decoded parts of the path by name; by number for a pattern. */
export type PathParts = Readonly<Record<string, string>>;

export type Handle = (call: QueueCall, parts: PathParts) => Promise<void> | void;

export type AddRoute = (method: Method, path: string | RegExp, handle: Handle) => void;

export type Routes = (add: AddRoute) => void;
