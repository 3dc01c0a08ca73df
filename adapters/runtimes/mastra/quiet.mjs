// Imported first: nothing may be sent anywhere, from the first import on.

process.env.MASTRA_TELEMETRY_DISABLED = "1";
