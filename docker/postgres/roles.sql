-- Two roles for Tristep on PostgreSQL (docs/operations.md, "PostgreSQL and Redis"):
--   tristep_owner  owns the tables and runs the migrations,
--   tristep_app    reads and writes rows, and can neither truncate a table, change one, nor touch a trigger.
-- Run it as a superuser, connected to Tristep's own database, after setting two passwords:
--   SELECT set_config('tristep.owner_password', '…', false), set_config('tristep.app_password', '…', false);
-- It may be run again, to change the passwords or after tables have come in another way.
DO $$
DECLARE
    part record;
BEGIN
    FOR part IN VALUES ('tristep_owner', 'tristep.owner_password'), ('tristep_app', 'tristep.app_password') LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = part.column1) THEN
            EXECUTE format('CREATE ROLE %I', part.column1);
        END IF;
        EXECUTE format(
            'ALTER ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD %L',
            part.column1, current_setting(part.column2)
        );
    END LOOP;

    -- Nobody gets anything for being there: PUBLIC could connect and make temporary tables.
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO tristep_owner', current_database());
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM tristep_app', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO tristep_app', current_database());
    ALTER SCHEMA public OWNER TO tristep_owner;
    REVOKE ALL ON SCHEMA public FROM PUBLIC, tristep_app;
    GRANT USAGE ON SCHEMA public TO tristep_app;

    -- What is there already, from before there were two roles or from a restore. Sequences go with their tables.
    FOR part IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' LOOP
        EXECUTE format('ALTER TABLE public.%I OWNER TO tristep_owner', part.relname);
    END LOOP;
    FOR part IN SELECT oid::regprocedure AS name FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND starts_with(proname, 'tristep_')
           OR pronamespace = 'public'::regnamespace AND starts_with(proname, 'annotation_') LOOP
        EXECUTE format('ALTER FUNCTION %s OWNER TO tristep_owner', part.name);
    END LOOP;
    REVOKE ALL ON ALL TABLES IN SCHEMA public FROM PUBLIC, tristep_app;
    REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM PUBLIC, tristep_app;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO tristep_app;
    GRANT SELECT, USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA public TO tristep_app;

    -- The audit log is added to, and never changed (migrations see to it in a database that is made anew).
    FOR part IN SELECT relname FROM pg_class
        WHERE oid IN (to_regclass('public.annotation_auditevent'), to_regclass('public.annotation_auditlink')) LOOP
        EXECUTE format('REVOKE UPDATE, DELETE ON public.%I FROM tristep_app', part.relname);
    END LOOP;

    -- And what migrations will make.
    ALTER DEFAULT PRIVILEGES FOR ROLE tristep_owner IN SCHEMA public
        GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO tristep_app;
    ALTER DEFAULT PRIVILEGES FOR ROLE tristep_owner IN SCHEMA public
        GRANT SELECT, USAGE, UPDATE ON SEQUENCES TO tristep_app;

    -- After an import the application lets PostgreSQL count rows (ANALYZE); before 17 only owners could.
    IF current_setting('server_version_num')::int >= 170000 THEN
        GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO tristep_app;
        ALTER DEFAULT PRIVILEGES FOR ROLE tristep_owner IN SCHEMA public GRANT MAINTAIN ON TABLES TO tristep_app;
    END IF;
END
$$;
