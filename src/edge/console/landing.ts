/** Leads a browser that opens the port's address to the console; other clients get the API's answer. */
import type { Middleware } from 'koa';
import { PRIVATE_HEADERS } from '../http/answer.js';

export const leadsBrowsers: Middleware = (context, next) => {
  const { method, path, headers } = context;
  const isPage = (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
  if (path !== '/' || !isPage) return next();
  context.set(PRIVATE_HEADERS);
  context.redirect('/console');
  return undefined;
};
