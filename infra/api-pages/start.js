/* Shows what there is. Calls are not made from here: each area has credentials of its own, and most have another port. */
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  supportedSubmitMethods: [],
  validatorUrl: null,
});
